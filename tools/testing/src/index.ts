export { openService, type Service } from './service.ts'
