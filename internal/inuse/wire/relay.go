package wire

// RelayResponse passes what is left of an answer on from server to client,
// files for LOCAL INFILE included, without looking at or copying rows. The two
// must be linked, have equal capabilities but for SSL, and r be started. The
// last bytes may wait in client until its next wait or Flush.
func RelayResponse(r *Response, server, client *Conn) error {
	for !r.Done() {
		kind, err := r.Next(server)
		if err != nil {
			return err
		}
		if err := server.CopyTo(client); err != nil {
			return err
		}
		if kind == KindInfile {
			if _, err := RelayInfile(client, server); err != nil {
				return err
			}
		}
	}
	return nil
}

// DropResponse reads what is left of an answer and forgets it. A file the
// server asks for is answered as empty.
func DropResponse(r *Response, server *Conn) error {
	for !r.Done() {
		kind, err := r.Next(server)
		if err != nil {
			return err
		}
		if kind == KindInfile {
			if err := server.WritePacket(nil); err != nil {
				return err
			}
		}
	}
	return nil
}
