/** More values of one label are useless to a reader and expensive to store. */
const MAX_VALUES = 100
const OTHER = 'other'

/** Types, codes and queues are named by the application: the first hundred keep their name, the rest is `other`. */
export class LabelLimit {
  readonly #seen = new Map<string, Set<string>>()

  apply<Labels extends Record<string, string>>(labels: Labels): Labels {
    // Nearly always unchanged: no copy per event.
    let isWithin = true
    for (const label in labels) isWithin &&= this.#limit(label, labels[label] as string) === labels[label]
    if (isWithin) return labels
    const limited = Object.entries(labels).map(([label, value]) => [label, this.#limit(label, value)])
    return Object.fromEntries(limited) as Labels
  }

  #limit(label: string, value: string): string {
    const seen = this.#seen.get(label) ?? new Set()
    this.#seen.set(label, seen)
    if (seen.size < MAX_VALUES) seen.add(value)
    return seen.has(value) ? value : OTHER
  }
}
