"""The models a user meets: classifier and regressor, and the rules they fold into."""
