from gviz.report.renderers.data_form import render_data as render_data
from gviz.report.renderers.how_marks import HowPlaces as HowPlaces
from gviz.report.renderers.how_marks import how_places as how_places
from gviz.report.renderers.html_form import render_html as render_html
from gviz.report.renderers.json_form import document_to_json as document_to_json
from gviz.report.renderers.markdown_form import render_markdown as render_markdown
from gviz.report.renderers.text_form import render_text as render_text
from gviz.report.renderers.text_form import render_texts as render_texts
