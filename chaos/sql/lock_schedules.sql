lock table unstuck.schedules in access exclusive mode
