// @ts-check
// The processes under test load plain JavaScript: stripping types costs memory and time, which would be measured too.

const PRODUCTS = ['bullmq', 'graphile-worker', 'pg-boss', 'river', 'unstuck']

/**
 * @param {import('./contender.ts').ContenderId} id
 * @returns {Promise<import('./contender.ts').Contender>}
 */
export async function loadContender(id) {
  const folder = PRODUCTS.find((product) => id.startsWith(product)) ?? 'baseline'
  /** @type {unknown} */
  const loaded = await import(new URL(`${folder}/${id}.mjs`, import.meta.url).href)
  return /** @type {{ default: import('./contender.ts').Contender }} */ (loaded).default
}
