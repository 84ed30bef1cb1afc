from gviz.agents.desk import Desk as Desk
from gviz.agents.library import skill_text as skill_text
from gviz.agents.recorder import Recorder as Recorder
from gviz.agents.recording_set import RecordingSet as RecordingSet
from gviz.agents.stdio import serve_stdio as serve_stdio
from gviz.agents.verbs import Allowed as Allowed
from gviz.agents.verbs import all_verbs as all_verbs
from gviz.agents.web import serve_http as serve_http
