from gviz.cli.command_line import main as main
from gviz.cli.commands.compare.check import read_limits as read_limits
