from gviz.analysis.launch_costs.fit import CostLine as CostLine
from gviz.analysis.launch_costs.forecast import Forecast as Forecast
from gviz.analysis.launch_costs.forecast import forecast_iteration as forecast_iteration
from gviz.analysis.launch_costs.recorded import LaunchCosts as LaunchCosts
from gviz.analysis.launch_costs.recorded import costs_for_run as costs_for_run
from gviz.analysis.launch_costs.repetition import find_repetition as find_repetition
from gviz.analysis.launch_costs.shape import FORK_JOIN as FORK_JOIN
from gviz.analysis.launch_costs.shape import STRAIGHT_LINE as STRAIGHT_LINE
