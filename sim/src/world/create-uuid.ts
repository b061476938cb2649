/** An id in the form of uuid v4. */
export function createUuid(random: () => number): string {
  const hex = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  const [a, b, c, d] = [hex(), hex(), hex(), hex()]
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`
}
