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
      cause: 'no age rule applies',
      remedy:
        'the policy setting legacyAgeRule reaps such rows by their timestamps; inspect rows without any',
    }
  }
  const times = rule.columns.join(', ')
  if (rule.isOn) {
    return {
      cause: `${times} are empty, or its stage has no lease`,
      remedy: 'inspect it manually',
    }
  }
  return {
    cause: 'legacyAgeRule is off',
    remedy: `policy: { legacyAgeRule: true } in the config file reaps such rows by the age of ${times}`,
  }
}
