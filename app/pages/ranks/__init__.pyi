from gviz.app.pages.ranks.comparison import ranks_of as ranks_of
