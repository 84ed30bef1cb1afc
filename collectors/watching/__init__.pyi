from gviz.collectors.watching import watch_native as watch_native
from gviz.collectors.watching.collection import Watching as Watching
from gviz.collectors.watching.graph_choice import GraphChoice as GraphChoice
from gviz.collectors.watching.handed_graph import executable_of as executable_of
from gviz.collectors.watching.patches import framework_patches as framework_patches
