export { redisTokenStore, type RedisTokenStoreOptions } from './redis-token-store.ts'
export type { StoreClient } from './store-client.ts'
