"""What can be proved of data and linear models: separability, margins, mistake bounds, fewest errors."""
