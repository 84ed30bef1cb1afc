from gviz.app.inspector.inspector import render_sums as render_sums
from gviz.app.inspector.life import edges_note as edges_note
from gviz.app.inspector.life import refusals as refusals
from gviz.app.inspector.life import render_failures as render_failures
from gviz.app.inspector.life import render_lives as render_lives
from gviz.app.inspector.memory_panel import render_memory_facts as render_memory_facts
from gviz.app.inspector.node_records import NodeRecords as NodeRecords
from gviz.app.inspector.picks import section as section
