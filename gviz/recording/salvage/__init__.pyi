from gviz.recording.salvage.losses import DAMAGE as DAMAGE
from gviz.recording.salvage.losses import unreadable_sentence as unreadable_sentence
from gviz.recording.salvage.salvage import recover_recording as recover_recording
from gviz.recording.salvage.sound_copy import mark_damaged as mark_damaged
from gviz.recording.salvage.sound_copy import sound_file as sound_file
from gviz.recording.salvage.sound_copy import take_found_late as take_found_late
from gviz.recording.salvage.soundness import has_unchecked_spans as has_unchecked_spans
