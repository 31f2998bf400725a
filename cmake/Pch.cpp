// Anchors the precompiled header; see AddCwm.cmake.
