// zod with `.openapi()`. The types of the contract are public, and name only zod: whoever installs the package has it.
import { z } from 'zod'
import { extendZodWithOpenApi } from './zod-openapi.ts'

extendZodWithOpenApi(z)

export { z }
