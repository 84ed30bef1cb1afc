from gviz.recording.upgrades.upgrade import upgrade_recording as upgrade_recording
