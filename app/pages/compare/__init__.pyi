from gviz.app.pages.compare.counterparts import counterpart_choice as counterpart_choice
from gviz.app.pages.compare.trend import trend_body as trend_body
