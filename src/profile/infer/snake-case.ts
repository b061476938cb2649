/** `lockedAt`, `LockedAt`, `locked-at` and `locked at` mean `locked_at`. */
export function inSnakeCase(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll(/[-\s]/g, '_')
    .toLowerCase()
}
