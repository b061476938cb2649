// zod with `.openapi()`. The public types of the contract depend on zod only, which every installation has.
import { z } from 'zod'
import { extendZodWithOpenApi } from './zod-openapi.ts'

extendZodWithOpenApi(z)

export { z }
