from gviz.api.opened import Opened as Opened
from gviz.api.opened import open as open
from gviz.api.profiled import profile as profile
from gviz.api.table_files import write_tables as write_tables
