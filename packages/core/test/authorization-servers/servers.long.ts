// Long: the servers fail in the way, and are asked again after a while.
import { checkServers } from './checks.ts'
import { servers } from './servers.ts'

checkServers(...servers)
