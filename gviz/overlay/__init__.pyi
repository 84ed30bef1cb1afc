from gviz.overlay.overlay_file import MOST_BYTES as MOST_BYTES
from gviz.overlay.overlay_file import OverlayFile as OverlayFile
from gviz.overlay.overlay_file import read_overlay as read_overlay
from gviz.overlay.overlay_file import read_overlays as read_overlays
