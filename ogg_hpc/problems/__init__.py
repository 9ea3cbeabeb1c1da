"""What is optimised: rules, rewards, feasibility, bounds and exact references."""
