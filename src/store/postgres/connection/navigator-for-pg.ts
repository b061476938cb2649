// Node 20 has no `navigator`, so pg asks for `Response` to learn where it runs, and that loads all of Node's fetch: 5 MB, 30 ms,
// and the heartbeat thread pays once more. It gets one while it loads. A file of its own in dist, since it has to run before pg.

const isMissing = !('navigator' in globalThis)

if (isMissing)
  Object.defineProperty(globalThis, 'navigator', {
    value: { userAgent: `Node.js/${process.versions.node.split('.')[0]}` },
    configurable: true,
  })

/** The application sees no trace of it. */
export function removeNavigator(): void {
  if (isMissing) Reflect.deleteProperty(globalThis, 'navigator')
}
