select "unstuck".take_operation(/*attachment*/'native', $1::bigint) as answer
