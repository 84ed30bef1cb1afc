from gviz.app.pages.compare.trend import trend_body as trend_body
