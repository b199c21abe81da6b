"""Pictures of what has been released or planned; nothing here sees data."""
