select to_jsonb("unstuck".policy_of(/*attachment*/'native')) as policy
