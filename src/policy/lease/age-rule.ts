// Explains why no sweep takes a running row without a lease, such as one stuck before its table was attached.
export interface AgeRule {
  isOn: boolean
  /** The time columns it uses, by the table's names. */
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
