/** Items with their places in the list. */
export interface Part<Item> {
  items: Item[]
  places: number[]
}

export function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Part<Item>> {
  const parts = new Map<Key, Part<Item>>()
  items.forEach((item, place) => {
    const key = keyOf(item)
    const part = parts.get(key) ?? { items: [], places: [] }
    parts.set(key, part)
    part.items.push(item)
    part.places.push(place)
  })
  return parts
}
