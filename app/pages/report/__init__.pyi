from gviz.app.pages.report.drawings import steps_of as steps_of
