select "unstuck".count_dispatches(/*attachment*/'native') as waiting
