from gviz.whatif.edit_text import parse_edit as parse_edit
from gviz.whatif.edits import Edit as Edit
from gviz.whatif.edits import EditKind as EditKind
from gviz.whatif.node_names import NodeNames as NodeNames
