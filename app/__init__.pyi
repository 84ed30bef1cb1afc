from gviz.app.files.page_links import graph_page as graph_page
from gviz.app.html_file.file import write_html as write_html
from gviz.app.html_file.launches import parse_launch as parse_launch
from gviz.app.server.access.links import fetch_links as fetch_links
from gviz.app.server.server import Options as Options
from gviz.app.server.server import serve as serve
