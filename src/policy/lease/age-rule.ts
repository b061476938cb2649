// Running rows without a lease, such as those that were stuck before their table was attached: why no sweep takes them, in words.
export interface AgeRule {
  isOn: boolean
  /** The times that it goes by, as the table calls them. */
  columns: string[]
}

export interface UnjudgedRows {
  cause: string
  remedy: string
}

export function explainUnjudged(rule: AgeRule | undefined): UnjudgedRows {
  if (rule === undefined) {
    return {
      cause: 'no rule judges it by its age',
      remedy:
        'legacyAgeRule of the policy judges such rows by their times; look at one that has none by hand',
    }
  }
  const times = rule.columns.join(', ')
  if (rule.isOn) {
    return {
      cause: `there is no time in ${times}, or no lease of the stage, to judge by`,
      remedy: 'look at it by hand',
    }
  }
  return {
    cause: 'legacyAgeRule is off',
    remedy: `policy: { legacyAgeRule: true } in the config file judges such rows by ${times}`,
  }
}
