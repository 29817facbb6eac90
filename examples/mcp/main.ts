import { connect } from './client.ts'
import { tokens } from './tokens.ts'

const client = await connect(tokens, process.env['MCP_URL'] ?? '')
const { tools } = await client.listTools()
console.log(`tools: ${tools.map(({ name }) => name).join(', ')}`)
const { content } = await client.callTool({
  name: 'add',
  arguments: { a: 2, b: 3 },
})
console.log(
  `2 + 3 = ${content.map((part) => (part.type === 'text' ? part.text : part.type)).join()}`,
)
await client.close()
await tokens.close()
