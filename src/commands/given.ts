type Given<Values> = { [Key in keyof Values]?: Exclude<Values[Key], undefined> }

/** The values that are set: an optional property may be missing, but not undefined. */
export function given<Values extends object>(values: Values): Given<Values> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Given<Values>
}
