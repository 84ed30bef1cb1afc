from gviz.system.own_process import own_command as own_command
from gviz.system.own_process import own_environment as own_environment
from gviz.system.own_process import put_pythonpath_last as put_pythonpath_last
from gviz.system.permissions import MODE_VARIABLE as MODE_VARIABLE
from gviz.system.permissions import create_file as create_file
from gviz.system.permissions import mode_for as mode_for
from gviz.system.permissions import parse_mode as parse_mode
from gviz.system.saying import say as say
