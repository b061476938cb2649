// State beside the jobs is kept as one text per record, including its times.

const TIME = '$time'

export function toBody(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, shown: unknown) {
    const raw = this[key]
    return raw instanceof Date ? { [TIME]: raw.getTime() } : shown
  })
}

export function fromBody(body: string): unknown {
  return JSON.parse(body, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !(TIME in value)) return value
    return new Date(Number(value[TIME]))
  })
}
