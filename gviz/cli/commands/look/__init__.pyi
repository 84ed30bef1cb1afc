from gviz.cli.commands.look.view import add_server_options as add_server_options
from gviz.cli.commands.look.view import serve_files as serve_files
