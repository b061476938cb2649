import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Complete or absent, also after a power cut: written to a temporary name, flushed and renamed; then the folder is flushed.
 * @param {string} file
 * @param {string | Uint8Array} content
 * @param {string} mark differs for each writer, so that two never write to the same part
 */
export async function writeWholeFile(file, content, mark) {
  const part = `${file}.${mark}.part`
  const handle = await open(part, 'w')
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(part, file)
  const folder = await open(dirname(file), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
