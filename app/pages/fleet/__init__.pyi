from gviz.app.pages.fleet.overviews import Overviews as Overviews
from gviz.app.pages.fleet.page import render_fleet_page as render_fleet_page
from gviz.app.pages.fleet.page import show_fleet as show_fleet
