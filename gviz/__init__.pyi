from gviz.api import open as open
from gviz.api import profile as profile
from gviz.collectors import compare_stream as compare_stream
from gviz.collectors import start as start
from gviz.collectors import stop as stop
from gviz.collectors import try_edits as try_edits
from gviz.collectors import watch as watch
from gviz.errors import GvizError as GvizError

__version__: str
