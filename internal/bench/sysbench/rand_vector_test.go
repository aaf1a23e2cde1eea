package sysbench

// generatorVector is xoroshiro128+ from the state (1, 2).
var generatorVector = []uint64{
	0x3,
	0x6001030003,
	0x20c102c302000c03,
	0x810180670d23ad61,
	0x26d13a4941333a42,
	0x538a501c02f58b2e,
	0x2ab2076dee382f7e,
	0x30dfcfb722fecd9c,
}
