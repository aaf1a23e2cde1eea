// Runs Sequelize, TypeORM and Knex as VEIL_PORT, VEIL_USER and VEIL_PASSWORD say, and
// prints a line for each step: tool, step, what it saw.
require('reflect-metadata')
const host = '127.0.0.1', port = +process.env.VEIL_PORT
const user = process.env.VEIL_USER, password = process.env.VEIL_PASSWORD

async function step(tool, name, f) {
	let saw
	try {
		saw = JSON.stringify(await f())
	} catch (e) {
		saw = 'fails: ' + String(e.message || e).split('\n')[0]
	}
	console.log(`${tool}\t${name}\t${saw}`)
}

async function sequelize() {
	const { Sequelize, DataTypes, Op } = require('sequelize')
	const s = new Sequelize('shop', user, password, { host, port, dialect: 'mysql', logging: false })
	const q = s.getQueryInterface()
	await step('Sequelize', 'authenticate', () => s.authenticate())
	await step('Sequelize', 'tables', async () => (await q.showAllTables()).length > 2)
	await step('Sequelize', 'describe', async () => Object.keys(await q.describeTable('users')))
	await step('Sequelize', 'indexes', async () => (await q.showIndex('orders')).map(i => i.name).sort())
	await step('Sequelize', 'foreign keys', async () => (await q.getForeignKeyReferencesForTable('users')).map(k => k.constraintName))
	await step('Sequelize', 'constraints', async () => (await q.showConstraint('users')).length)
	const User = s.define('User', { name: DataTypes.STRING, email: DataTypes.STRING, phone: DataTypes.STRING, version: DataTypes.INTEGER }, { tableName: 'users', timestamps: false })
	const Order = s.define('Order', { total: DataTypes.DECIMAL, card_number: DataTypes.STRING, user_id: DataTypes.INTEGER }, { tableName: 'orders', timestamps: false })
	User.hasMany(Order, { foreignKey: 'user_id' })
	await step('Sequelize', 'queries', () => s.transaction(async transaction => {
		const u = await User.create({ name: 'Sq', email: 'sq@example.org', version: 1 }, { transaction })
		await u.update({ email: 'sr@example.org' }, { transaction })
		await User.upsert({ id: u.id, name: 'Sq', email: 'ss@example.org', version: 1 }, { transaction })
		const [found, made] = await User.findOrCreate({ where: { email: 'ss@example.org' }, defaults: { name: 'x' }, transaction })
		await u.increment('version', { transaction })
		await User.bulkCreate([{ name: 'B1', email: 'c1@example.org', version: 0 }, { name: 'B2', email: 'c2@example.org', version: 0 }], { transaction })
		const page = await User.findAndCountAll({ include: Order, where: { email: { [Op.ne]: null } }, limit: 2, order: ['id'], transaction })
		const max = await User.max('version', { transaction })
		await User.destroy({ where: { name: ['Sq', 'B1', 'B2'] }, transaction })
		return [found.name, made, page.count, page.rows.length, max]
	}))
	await step('Sequelize', 'sync', async () => { await s.sync() })
	await s.close()
}

async function typeorm() {
	const { DataSource, EntitySchema, Not, IsNull } = require('typeorm')
	const User = new EntitySchema({
		name: 'User', tableName: 'users',
		columns: { id: { type: Number, primary: true, generated: true }, name: { type: String, length: 60 }, email: { type: String, length: 120, nullable: true }, phone: { type: String, length: 30, nullable: true }, version: { type: Number, default: 0 } },
	})
	const d = new DataSource({ type: process.env.VEIL_SERVER === 'mysql' ? 'mysql' : 'mariadb', host, port, username: user, password, database: 'shop', entities: [User] })
	await step('TypeORM', 'initialize', async () => { await d.initialize() })
	const run = d.createQueryRunner()
	await step('TypeORM', 'tables', async () => (await run.getTables(['users', 'orders'])).map(t => [t.name, t.columns.length, t.foreignKeys.length, t.indices.length, t.uniques.length]))
	await step('TypeORM', 'view', async () => (await run.getViews(['company_users'])).length)
	await step('TypeORM', 'has', async () => [await run.hasTable('users'), await run.hasColumn('users', 'email'), await run.hasDatabase('shop')])
	await step('TypeORM', 'schema log', async () => (await d.driver.createSchemaBuilder().log()).upQueries.length > 0)
	await step('TypeORM', 'queries', () => d.transaction(async m => {
		const r = m.getRepository(User)
		const u = await r.save({ name: 'To', email: 'to@example.org', version: 1 })
		await r.save({ ...u, email: 'tp@example.org' })
		const found = await r.findOneBy({ email: 'tp@example.org' })
		await r.upsert({ id: u.id, name: 'To', email: 'tq@example.org', version: 1 }, ['id'])
		const [list, n] = await r.findAndCount({ where: { email: Not(IsNull()) }, order: { id: 'ASC' }, take: 2 })
		await r.increment({ id: u.id }, 'version', 1)
		const max = await r.maximum('version')
		await r.delete({ name: 'To' })
		return [found.name, n, list.length, max]
	}))
	await d.destroy()
}

async function knex() {
	const k = require('knex')({ client: 'mysql2', connection: { host, port, user, password, database: 'shop' } })
	await step('Knex', 'has', async () => [await k.schema.hasTable('users'), await k.schema.hasColumn('users', 'email')])
	await step('Knex', 'columns', async () => Object.keys(await k('users').columnInfo()))
	await step('Knex', 'queries', () => k.transaction(async t => {
		const [id] = await t('users').insert({ name: 'Kn', email: 'kn@example.org' })
		const n = await t('users').where({ id }).update({ email: 'ko@example.org' })
		await t('users').insert({ id, name: 'Kn', email: 'kp@example.org' }).onConflict('id').merge()
		const found = await t('users').where({ email: 'kp@example.org' }).first('name')
		const [{ c }] = await t('users').countDistinct('email as c')
		await t('users').where({ id }).del()
		return [n, found.name, c > 0]
	}))
	await k.destroy()
}

;(async () => {
	await sequelize()
	await typeorm()
	await knex()
})()
