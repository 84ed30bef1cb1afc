from gviz.agents.verbs.allowed import Allowed as Allowed
from gviz.agents.verbs.allowed import all_verbs as all_verbs
