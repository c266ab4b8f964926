"""Images and volumes as graphs: grids, their neighborhoods and edges."""
