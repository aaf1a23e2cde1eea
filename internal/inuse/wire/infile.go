package wire

// DecodeInfile is the file name in a LOCAL INFILE request, a view: the server
// asks the client to send that file as packets and an empty packet after them.
func DecodeInfile(p []byte) ([]byte, error) {
	d := decoder{b: p}
	d.expect(infileHeader)
	name := d.rest()
	return name, d.end("local infile request")
}

const infileHeader = 0xfb

// RelayInfile passes the file the client sends on to the server, up to the
// empty packet that ends it, and returns its size in bytes. The server's answer
// follows.
func RelayInfile(client, server *Conn) (size int64, err error) {
	for {
		n, _, err := client.Next()
		if err != nil {
			return size, err
		}
		if err := client.CopyTo(server); err != nil {
			return size, err
		}
		if n == 0 {
			return size, nil
		}
		size += int64(client.pkt.total)
	}
}
