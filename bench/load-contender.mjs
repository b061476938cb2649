// @ts-check
// What the processes under test load is JavaScript: a Node that strips types needs memory and time of its own.

/**
 * @param {import('./contender.ts').ContenderId} id
 * @returns {Promise<import('./contender.ts').Contender>}
 */
export async function loadContender(id) {
  /** @type {unknown} */
  const loaded = await import(new URL(`contenders/${id}.mjs`, import.meta.url).href)
  return /** @type {{ default: import('./contender.ts').Contender }} */ (loaded).default
}
