module github.com/veildb/veildb/internal/clienttest/encdbgo

go 1.26

require github.com/aliyun/alibabacloud-encdb-mysql-go-client v1.0.3
