// @ts-check
// The peers are packages of bench/ and resolve only from here.

/**
 * @param {string} name
 * @returns {Promise<unknown>} the caller knows what it asked for
 */
export function importPeer(name) {
  return import(name)
}
